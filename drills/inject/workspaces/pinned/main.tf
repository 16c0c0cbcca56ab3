# Two records of a provider that a mirror of the company hands out. The lock file says which build of it is meant.

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
}

resource "records_entry" "orders" {
  name  = "orders"
  value = "10.20.0.11"
}

resource "records_entry" "checkout" {
  name  = "checkout"
  value = "10.20.0.12"
}
