# What stands in front of the shop: its limits, its cache, its route. Each is a terraform_data, so nothing leaves this
# machine and no provider is downloaded.

resource "terraform_data" "limits" {
  input = "${local.requests_per_minute} requests a minute"
}

resource "terraform_data" "cache" {
  input = "${local.cache_mib} MiB"
}

resource "terraform_data" "route" {
  input = "shop.example"
}
