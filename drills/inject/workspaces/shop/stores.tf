resource "terraform_data" "database" {
  input = "orders, 412 GiB"
}

resource "terraform_data" "queue" {
  input = "orders-in"
}

resource "terraform_data" "cache" {
  input = "sessions"
}
