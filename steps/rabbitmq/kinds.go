// Package rabbitmq reads what a RabbitMQ has, from the management API of the
// broker itself: its virtual hosts, and the bindings of one of them held against
// those that are declared. It has no gate, and its transport knows no write.
//
// Where a broker is and who reads it stands in a file of the operator
// (brokers.yaml): credentials go to the address that they are written beside and
// to no other, whatever a runbook or a repository says.
package rabbitmq

import "handrail/steps"

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	url := steps.Field{Name: "url", Type: steps.String, Required: true, Doc: "address of the management API, as in brokers.yaml: https://broker.example:15671"}
	return []steps.Kind{
		{
			Name: "rabbitmq/vhosts", Class: steps.Probe, Facts: vhostFacts(),
			Doc: "Lists the virtual hosts that a broker has, and says whether the wanted one is among them. An account that does not see all of them leaves that unknown.",
			Params: []steps.Field{url,
				{Name: "wanted", Type: steps.String, Doc: "virtual host that a program asks for, by its name or as the AMQP URI that the program is given"}},
			Touches: []string{"gets /api/whoami and /api/vhosts"},
			Reads:   func(e steps.Env) steps.Prober { return vhostProbe{e} },
		},
		{
			Name: "rabbitmq/bindings", Class: steps.Probe, Facts: bindingFacts(),
			Doc: "Holds the bindings that are declared for a virtual host against those that it has, by source, destination and routing key.",
			Params: []steps.Field{url,
				{Name: "vhost", Type: steps.String, Required: true, Doc: "virtual host, by its name or as an AMQP URI"},
				{Name: "declared", Type: steps.String, Lines: true, Doc: "what is declared, as YAML or JSON: a list of {source, destination, destination_type, routing_key, arguments}, or exported definitions"},
				{Name: "file", Type: steps.Path, Doc: "file of the same, instead of declared"}},
			Touches: []string{"gets /api/whoami, and the bindings, queues and exchanges of the virtual host, in pages", "gets /api/vhosts, and from at most five others whether they have queues and exchanges of the declared names", "reads the file"},
			Reads:   func(e steps.Env) steps.Prober { return bindingProbe{e} },
		},
	}
}
