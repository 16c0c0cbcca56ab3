# The audit trail takes as long to set up as somebody else lets it.
resource "kubernetes_config_map" "audit" {
  metadata {
    name      = "audit"
    namespace = var.namespace
  }
  data = { keep = "7y" }
  provisioner "local-exec" {
    command = "while [ ! -e ../go ]; do sleep 0.05; done"
  }
}

resource "kubernetes_config_map" "billing" {
  metadata {
    name      = "billing"
    namespace = var.namespace
  }
  data = { day = "1" }
}
