# What the shop reads at its start: which features are on, and the limits of a cart. The second object is another team's.

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

variable "banner" {
  type    = string
  default = "winter"
}

resource "kubernetes_config_map" "flags" {
  metadata {
    name      = "flags"
    namespace = var.namespace
  }
  data = {
    dark_mode    = "true"
    express_till = "false"
    cart_limit   = "25"
  }
}

resource "kubernetes_config_map" "banner" {
  metadata {
    name      = "banner"
    namespace = var.namespace
  }
  data = { text = var.banner }
}
