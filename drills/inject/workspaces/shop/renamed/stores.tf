resource "terraform_data" "orders_database" {
  input = "orders, 412 GiB"
}

resource "terraform_data" "orders_queue" {
  input = "orders-in"
}

resource "terraform_data" "cache" {
  input = "sessions"
}
