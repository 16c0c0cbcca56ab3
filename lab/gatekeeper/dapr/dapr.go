// Package dapr takes the place of what sends violations to Dapr. A lab sends them nowhere, and Dapr's client would be compiled
// for nothing.
package dapr

import "github.com/open-policy-agent/gatekeeper/v3/pkg/export/disk"

// Name is that of the driver, which a Connection of Gatekeeper names.
const Name = "dapr"

// Connections are files, as those of the other driver: no Connection is made in a lab.
var Connections = disk.Connections
