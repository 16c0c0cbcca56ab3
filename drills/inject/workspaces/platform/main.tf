# What the platform keeps for the orders: objects of a cluster, and entries of a registry with an API of its own. The five
# entries of the realm are the change at hand.

terraform {
  required_providers {
    kubernetes = { source = "hashicorp/kubernetes" }
    records    = { source = "lab.example/lab/records" }
  }
}

variable "records_api" {
  type = string
}

provider "records" {
  endpoint = var.records_api # TF_TOKEN_lab_example says as whom
  retry    = "never"
}

provider "kubernetes" {}

variable "namespace" {
  description = "where the objects belong; the drill says it"
  type        = string
}

resource "kubernetes_config_map" "orders_db" {
  metadata {
    name      = "orders-db"
    namespace = var.namespace
  }
  data = { instances = "3", storage = "400Gi" }
}

resource "kubernetes_config_map" "orders_db_backup" {
  metadata {
    name      = "orders-db-backup"
    namespace = var.namespace
  }
  data = { schedule = "0 2 * * *", keep = "30d" }
}

resource "records_entry" "portal" {
  name  = "portal"
  value = "deploy"
}

resource "kubernetes_config_map" "registry_pull" {
  metadata {
    name      = "registry-pull"
    namespace = var.namespace
  }
  data = { registry = "registry.example", robot = "pull" }
}

resource "records_entry" "robot" {
  name  = "registry-robot"
  value = "read"
}

resource "records_entry" "realm" {
  for_each = toset(["realm", "client", "scope", "mapper", "role"])
  name     = "docs-${each.key}"
  value    = "new"
}
