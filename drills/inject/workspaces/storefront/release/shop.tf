# The release: four things that take their time, one after the other.

variable "pace" {
  description = "seconds that each creation takes"
  type        = number
  default     = 1
}

resource "terraform_data" "cache" {
  input = "sessions, in ${terraform_data.network.output}"
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "queue" {
  input      = "orders-in"
  depends_on = [terraform_data.cache]
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "api" {
  input      = "orders-api, on ${terraform_data.database.output}"
  depends_on = [terraform_data.queue]
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}

resource "terraform_data" "route" {
  input      = "shop.example"
  depends_on = [terraform_data.api]
  provisioner "local-exec" {
    command = "sleep ${var.pace}"
  }
}
