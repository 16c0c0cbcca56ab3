resource "terraform_data" "burst" {
  input = "${local.requests_per_second * 2} requests in a burst"
}
