variable "routing" {
  type = any
}

resource "terraform_data" "replica" {
  input = "${var.routing["read_replica_routing"].host}:${var.routing["read_replica_routing"].weight}"
}

resource "terraform_data" "primary" {
  input = var.routing["write_routing"].host
}
