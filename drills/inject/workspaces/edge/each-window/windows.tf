locals {
  windows = { morning = "window-1", evening = "window-2" }
}

import {
  for_each = local.windows
  to       = terraform_data.window[each.key]
  id       = each.value
}

resource "terraform_data" "window" {
  for_each = local.windows
}
