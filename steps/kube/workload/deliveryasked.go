package workload

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// toldToAsk is what is known of the annotation by which a controller is made to ask its source now. Each time
// is the server's: the clock of a controller may be another.
type toldToAsk struct {
	note  string    // its value, "" where it is not there
	at    time.Time // when it was written, zero where the books do not tell
	wrote time.Time // when the controller last wrote its status
	took  string    // the note that it says it took last; External Secrets does not say
}

// How long an answer is waited for. A controller that failed tries again later and later, so that what still fails
// by then is asked in vain.
const (
	askedInVain   = 10 * time.Second
	askedNoAnswer = time.Minute
)

// toldOf reads it from the books of the object that delivers.
func toldOf(note string, md metav1.ObjectMeta) toldToAsk {
	t := toldToAsk{note: md.Annotations[note]}
	path := fieldpath.MakePathOrDie("metadata", "annotations", note)
	for _, e := range md.ManagedFields {
		var set fieldpath.Set
		if e.Time == nil || e.FieldsV1 == nil || set.FromJSON(e.FieldsV1.GetRawReader()) != nil {
			continue
		}
		if e.Subresource == "" && set.Has(path) && e.Time.After(t.at) {
			t.at = e.Time.Time
		}
		if status := set.WithPrefix(fieldpath.PathElement{FieldName: ptr("status")}); !status.Empty() && e.Time.After(t.wrote) {
			t.wrote = e.Time.Time
		}
	}
	return t
}

// answered says that what it was told was done. External Secrets writes its status at each fetch that succeeds. The
// books count seconds, and of a Pod that starts in the second of a write it cannot be told which value it took: so
// that second is waited for as well.
func (d deliveryState) answered() bool {
	if d.by != byExternal {
		return d.told.took == d.told.note
	}
	return d.ready == "True" && !d.told.wrote.Before(d.told.at) && d.now.After(d.told.wrote)
}

// asking says whether it was told to ask and the answer may still come; unsure says why that cannot be told.
func (d deliveryState) asking() (yes bool, unsure string) {
	switch {
	case d.told.note == "" || d.held != "":
		return false, ""
	case d.told.at.IsZero():
		return false, "managedFields do not tell when it was told to ask its source"
	case d.now.IsZero():
		return false, "the time of the server is not known"
	}
	return !d.answered() && !d.overdue(), ""
}

// overdue says that an answer would have come by now.
func (d deliveryState) overdue() bool {
	within := askedNoAnswer
	if d.by == byExternal && d.ready == "False" {
		within = askedInVain
	}
	return d.now.Sub(d.told.at) > within
}

// deaf says that it was told to ask, and neither did nor failed.
func (d deliveryState) deaf() bool {
	return d.told.note != "" && d.held == "" && !d.told.at.IsZero() && !d.now.IsZero() && d.ready == "True" && !d.answered() && d.overdue()
}
