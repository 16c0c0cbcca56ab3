resource "terraform_data" "burst" {
  input = "${local.requests_per_minute / 30} requests in a burst"
}
