# What the platform keeps for the orders, as real objects of a cluster. Two providers of other tools stand behind such
# objects outside a drill: an operator runs the database, Argo CD the portal.

terraform {
  backend "kubernetes" {} # the drill fills it in
  required_providers {
    kubernetes = { source = "hashicorp/kubernetes" }
  }
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

resource "kubernetes_config_map" "portal" {
  metadata {
    name      = "portal"
    namespace = var.namespace
  }
  data = { repository = "portal", path = "deploy" }
}

resource "kubernetes_config_map" "registry_pull" {
  metadata {
    name      = "registry-pull"
    namespace = var.namespace
  }
  data = { registry = "registry.example", robot = "pull" }
}

resource "kubernetes_config_map" "registry_robot" {
  metadata {
    name      = "registry-robot"
    namespace = var.namespace
  }
  data = { name = "pull", rights = "read" }
}
