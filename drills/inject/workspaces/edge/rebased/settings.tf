locals {
  requests_per_second = 300
  cache_mib           = 64
}
