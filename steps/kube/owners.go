package kube

import "handrail/steps"

func ownersFacts() []steps.Field {
	return []steps.Field{
		{Name: "owners", Type: steps.Strings, Doc: "controllers that write the object, with whether each is paused"},
		{Name: "active", Type: steps.Strings, Doc: "those that are not known to be paused"},
		{Name: "managed", Type: steps.Bool, Doc: "whether there is any"},
	}
}
