package runbooks

import (
	"strings"
)

// keyDocs says what stands under each key, for the schema and for docs/authoring.md. A key
// that is not here has its words where its shape is.
var keyDocs = map[string]string{
	"title":      "what the list of steps shows; without it the beginning of what the step says",
	"doc":        "what the runbook is for and how it thinks, in a paragraph",
	"say":        "what to tell the person, with ${…} for what is known by then",
	"help":       "what helps with the step, shown on demand; of a parameter or a fact, what it is",
	"show":       "values to lay before the person, each by its name or as {label: value}",
	"covers":     "items of evidence that the step gives, E1 to E14",
	"with":       "the parameters of the kind of step, or of the next runbook",
	"required":   "in preserve no gate opens without it, in verify no recovery; of a parameter, that it must be given",
	"findings":   "what is worth attention in what was read, each by a condition",
	"uses":       "the kind of probe that reads",
	"ask":        "the question, put to a person",
	"manual":     "what a person does outside of handrail",
	"compare":    "the question that a table of fields by sources answers",
	"conclude":   "the topic that facts and people decide",
	"gate":       "the kind of gate that changes something",
	"watch":      "the kind of probe that is repeated until it is green",
	"note":       "what to know here; nothing is asked",
	"evidence":   "the proof that is asked for with the answer or the deed",
	"answers":    "the answers by their words, each with what it means; unknown is always one",
	"propose":    "which answer the facts give, each by a condition; a person agrees or not",
	"green":      "of a question in verify, the answers that prove the recovery",
	"cases":      "what is proposed, each by a condition; the first that is true counts",
	"require":    "what a gate needs besides its laws and floors, each with what to tell without it",
	"rows":       "the fields of a comparison, each with what its sources say",
	"despite":    "fields of comparisons that do not speak against this case",
	"greens":     "how many green looks in a row prove it; 2 without it",
	"apart":      "the time between two looks, such as 20s, which it is without it",
	"fresh":      "how long what was read or said counts, such as 90s, at most 1h; 15m without it",
	"symptoms":   "what people see, in their words; match ranks what no pattern claims by them",
	"recognise":  "texts of errors, by weight; 5 and more claims a text",
	"params":     "what a call gives the runbook, by name",
	"next":       "runbooks to go on with, each by a condition",
	"values":     "the values of an enum",
	"default":    "the value where none is given",
	"matched":    "of a parameter, that the text by which the runbook was matched is the file that it names: the log of the very run; one parameter of a runbook at most",
	"later":      "of a parameter, that its file comes during the incident: its path may be given before it is there",
	"min":        "the least that an int or a duration may be",
	"max":        "the most that an int or a duration may be",
	"patch":      "of a parameter, that it is a JSON patch, and the path below which KEY=VALUE pairs may be given instead; / for none",
	"pattern":    "a Go regular expression: of an error, of a parameter, or of the proof of a manual step",
	"pays":       "the kind of debt that the manual step pays: reconcile, resume or unfinished",
	"names":      "values that the words of a proof must name; of a question, by answer",
	"doubts":     "questions whose answers it speaks against: they are asked again before a gate that it keeps shut is passed",
	"against":    "gates that a critical finding keeps shut, or close; [] for none",
	"facts":      "facts that a step of the kinds own/exec, own/file and own/http reads from the answer",
	"when":       "a CEL condition over facts.STEP.FACT, answers.STEP and params.NAME; what is unknown never opens a gate",
	"id":         "small letters, digits and underscores, by which expressions name the step; of a runbook with hyphens, the name of its file",
	"matrix":     "rows of the decision matrix, the main one first",
	"departs":    "why the way of the runbook is another than that of its main row",
	"proves":     "post-conditions of recovery, each with the steps of verify that show it",
	"is":         "what is proposed: a value of the topic, or an answer",
	"level":      "info, warning or critical; warning without it",
	"type":       "the type of a parameter or of a fact",
	"weight":     "1 to 10 where it speaks for the runbook, below 0 where against; 5 without it",
	"else":       "what to tell where the condition does not hold",
	"reason":     "of an owner, why the table of domains does not name them",
	"cel":        "a CEL expression over doc, the answer that was read",
	"regexp":     "a Go regular expression with one group, or one that is named as the fact",
	"runbook":    "the id of a runbook",
	"apiVersion": "handrail/v1",
	"kind":       "Runbook",
	"domain":     "the failure domain, which says who owns the recovery",
	"severity":   "how bad it is usually",
}

// explained adds to the form of a key what stands under it.
func explained(key string, s schema) schema {
	if doc := keyDocs[key]; doc != "" {
		s["description"] = doc
	}
	return s
}

// parts are the keys of what stands inside of a runbook and its steps.
func parts(what string) []string {
	return strings.Fields(map[string]string{
		"a pattern":      "pattern weight say",
		"a parameter":    "type default required help values pattern min max matched later patch",
		"a next runbook": "runbook when with say",
		"a requirement":  "when else",
		"a finding":      "when level say against doubts",
		"a fact":         "type cel regexp help values",
		"a case":         "when is say despite reason",
		"a proposal":     "when is say",
	}[what])
}
