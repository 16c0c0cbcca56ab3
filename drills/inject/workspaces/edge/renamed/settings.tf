locals {
  requests_per_minute = 12000
  cache_mib           = 32
}
