resource "records_entry" "orders" {
  name  = "orders"
  value = "10.20.0.11"
}

resource "records_entry" "search" {
  name       = "search"
  value      = "10.20.0.12"
  depends_on = [records_entry.orders]
}

resource "records_entry" "cache" {
  name       = "cache"
  value      = "10.20.0.13"
  depends_on = [records_entry.search]
}

resource "records_entry" "invoices" {
  name       = "invoices"
  value      = "10.20.0.14"
  depends_on = [records_entry.cache]
}
