resource "records_entry" "tenant" {
  for_each = toset([for n in range(140) : format("tenant-%03d", n)])
  name     = each.key
  value    = "v1"
}

resource "records_entry" "route" {
  for_each   = toset([for n in range(13) : format("route-%03d", n)])
  name       = each.key
  value      = "v1"
  depends_on = [records_entry.tenant]
}

resource "records_entry" "flag" {
  provider   = records.cached
  for_each   = toset([for n in range(47) : format("flag-%03d", n)])
  name       = each.key
  value      = "v1"
  depends_on = [records_entry.tenant]
}
