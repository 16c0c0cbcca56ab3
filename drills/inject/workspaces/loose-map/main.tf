# Routes of a shop: what the platform has always given to everybody, and on top of it what a team asks for in its own
# settings. Everything is a terraform_data, so nothing leaves this machine and no provider is downloaded.

variable "environment" {
  type    = string
  default = "staging"
}

locals {
  # What every database module reads. The oldest of them stand in modules that nobody has edited for months.
  legacy_routing = {
    read_replica_routing = { host = "replica-1.orders.example", weight = 100 }
    write_routing        = { host = "primary.orders.example", weight = 100 }
  }
}

# The settings of the environment, as the settings service hands them out: text that is JSON.
resource "terraform_data" "settings" {
  input = file("${path.module}/settings.${var.environment}.json")
}

module "database" {
  source  = "./modules/database"
  routing = merge(local.legacy_routing, jsondecode(terraform_data.settings.output))
}
