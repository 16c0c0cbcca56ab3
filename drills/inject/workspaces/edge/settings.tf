locals {
  requests_per_second = 200
  cache_mib           = 32
}
