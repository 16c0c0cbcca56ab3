# Four records behind an API that counts requests. The provider gives up at the first refusal, and does not wait for what
# it made to show.

terraform {
  required_providers {
    records = {
      source  = "lab.example/lab/records"
      version = "~> 0.1.0"
    }
  }
}

variable "records_api" {
  type = string
}

provider "records" {
  endpoint = var.records_api # TF_TOKEN_lab_example says as whom
  retry    = "never"
}

resource "records_entry" "orders" {
  name  = "orders"
  value = "10.20.0.11"
}

resource "records_entry" "search" {
  name  = "search"
  value = "10.20.0.12"
}

resource "records_entry" "cache" {
  name  = "cache"
  value = "10.20.0.13"
}

resource "records_entry" "invoices" {
  name       = "invoices"
  value      = "10.20.0.14"
  depends_on = [records_entry.cache]
}
