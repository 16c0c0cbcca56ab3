# Argo CD puts its label on what it looks after.
resource "kubernetes_config_map" "gateway" {
  metadata {
    name      = "gateway"
    namespace = var.namespace
  }
  data = { host = "orders.example" }
}
