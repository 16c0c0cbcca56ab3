resource "kubernetes_config_map" "billing" {
  metadata {
    name      = "billing"
    namespace = var.namespace
  }
  data = { day = "1" }
}
