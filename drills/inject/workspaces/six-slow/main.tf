# Six things that take their time, one after the other. They stand for a network, what runs in it, and what hangs on
# that; each is a terraform_data, so nothing leaves this machine and no provider is downloaded.

variable "pace" {
  description = "seconds that each creation takes"
  type        = number
  default     = 2
}

resource "terraform_data" "network" {
  input = "10.20.0.0/16"
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "subnet" {
  input = "${terraform_data.network.output} a"
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "database" {
  input      = "orders"
  depends_on = [terraform_data.subnet]
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "queue" {
  input      = "orders-in"
  depends_on = [terraform_data.database]
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "service" {
  input      = "orders-api"
  depends_on = [terraform_data.queue]
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "route" {
  input      = "orders.example"
  depends_on = [terraform_data.service]
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}
