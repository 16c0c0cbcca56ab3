locals {
  windows = { morning = "window-1", evening = "window-2" }
}

import {
  to = terraform_data.window["morning"]
  id = "window-1"
}

import {
  to = terraform_data.window["evening"]
  id = "window-2"
}

resource "terraform_data" "window" {
  for_each = local.windows
}
