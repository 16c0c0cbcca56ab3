# Two hundred entries of an in-house service, in an API that counts its requests. The provider retries for ever. The reads
# of its second form come from a cache.

terraform {
  required_providers {
    records = {
      source  = "lab.example/lab/records"
      version = "~> 0.1.0"
    }
  }
}

variable "records_api" {
  type = string
}

provider "records" {
  endpoint = var.records_api # TF_TOKEN_lab_example says as whom
  retry    = "forever"
}

provider "records" {
  alias        = "cached"
  endpoint     = var.records_api
  retry        = "forever"
  cached_reads = true
}
