# What the shop stands on. Each is a terraform_data, so nothing leaves this machine and no provider is downloaded.
# The state is where backend.tf says.

resource "terraform_data" "network" {
  input = "10.20.0.0/16"
}

resource "terraform_data" "database" {
  input = "orders, in ${terraform_data.network.output}"
}
