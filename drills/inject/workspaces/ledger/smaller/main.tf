# What the ledger is made of, as real objects of a cluster.

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

resource "kubernetes_config_map" "accounts" {
  metadata {
    name      = "accounts"
    namespace = var.namespace
  }
  data = { shards = "4" }
}
