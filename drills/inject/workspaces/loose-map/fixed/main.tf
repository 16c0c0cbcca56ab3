# The same routes. What a team asks for has a key of its own, and a settings file that takes a name of the platform is
# refused at the plan.

variable "environment" {
  type    = string
  default = "staging"
}

locals {
  # read_replica_routing is read by the database module, and stays as it is until its consumers are gone.
  legacy_routing = {
    read_replica_routing = { host = "replica-1.orders.example", weight = 100 }
    write_routing        = { host = "primary.orders.example", weight = 100 }
  }

  settings = file("${path.module}/settings.${var.environment}.json")
}

# The settings of the environment, as the settings service hands them out: text that is JSON.
resource "terraform_data" "settings" {
  input = local.settings

  lifecycle {
    precondition {
      condition     = length(setintersection(keys(local.legacy_routing), keys(jsondecode(local.settings)))) == 0
      error_message = "A key of the settings is one of the platform's own: give it another name."
    }
  }
}

module "database" {
  source  = "./modules/database"
  routing = merge(local.legacy_routing, jsondecode(terraform_data.settings.output))
}
