// Package registry takes the place of the list of exporters of metrics of Gatekeeper. The one that it begins by itself listens
// on all addresses of the machine and takes a port alone, so the lab has none: who looks at what a drill measures reads the
// cluster. The flags that name an exporter are not there, and a lab that sets one does not start.
package registry

import "context"

// StartExporter begins one exporter.
type StartExporter func(context.Context) error

// Exporters returns none.
func Exporters() []StartExporter { return nil }
