# What the checkout of the shop stands on, as real objects of a cluster, one after the other.

terraform {
  required_providers {
    kubernetes = { source = "hashicorp/kubernetes" }
  }
}

provider "kubernetes" {}

variable "namespace" {
  description = "where the objects belong; the drill says it"
  type        = string
}

resource "kubernetes_config_map" "network" {
  metadata {
    name      = "network"
    namespace = var.namespace
  }
  data = { range = "10.40.0.0/16" }
}

resource "kubernetes_config_map" "ledger_db" {
  metadata {
    name      = "ledger-db"
    namespace = var.namespace
  }
  data = { storage = "80Gi" }
  depends_on = [kubernetes_config_map.network]
}

resource "kubernetes_config_map" "checkout" {
  metadata {
    name      = "checkout"
    namespace = var.namespace
  }
  data = { replicas = "4" }
  depends_on = [kubernetes_config_map.ledger_db]
}
