# What the shop keeps its orders in. Each is a terraform_data, so nothing leaves this machine and no provider is
# downloaded; destroying one of them would be the end of what it stands for.

resource "terraform_data" "network" {
  input = "10.30.0.0/16"
}
