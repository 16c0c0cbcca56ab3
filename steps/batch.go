package steps

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// BatchPhrase builds the phrase for several targets at one gate: the verb, how many
// they are, and eight characters of the digest of the list. For one target it is
// that of [Phrase].
func BatchPhrase(verb string, targets []string) string {
	if len(targets) == 1 {
		return Phrase(verb, targets[0])
	}
	sum := sha256.Sum256([]byte(strings.Join(targets, "\n")))
	return fmt.Sprintf("%s %d %s", verb, len(targets), hex.EncodeToString(sum[:])[:8])
}

// Batch acts on items in order, each by itself, and stops at the first that is not
// done, or when ctx ends: what follows is left. one acts on the item at i, as Act
// does: an error means that its outcome could not be learnt, and is returned with
// what each item came to.
func Batch(ctx context.Context, items []Item, one func(i int) (Outcome, error)) (Outcome, error) {
	out := Outcome{Items: append([]Item{}, items...)}
	for i := range out.Items {
		out.Items[i].Outcome = Left
	}
	done, why := 0, ""
	for i := range out.Items {
		if ctx.Err() != nil && i > 0 {
			why = "It was interrupted before " + items[i].Object + "."
			break
		}
		got, err := one(i)
		it := &out.Items[i]
		it.Outcome, it.Response, it.After = got.Result, got.Response, got.After
		if err != nil {
			it.Outcome, it.Response = "unknown", err.Error()
			return out, fmt.Errorf("%s; it stopped at %s: %w", counted(done, len(items)), items[i].Object, err)
		}
		if got.Result != Done {
			why = "It stopped at " + items[i].Object + ": " + got.Response
			break
		}
		done++
	}
	return out.sum(done, why), nil
}

// FindBatch says what the items of a batch came to whose end was not recorded. one
// looks at the item at i, as Find does.
func FindBatch(items []Item, one func(i int) (Outcome, error)) (Outcome, error) {
	out := Outcome{Items: append([]Item{}, items...)}
	done := 0
	var not []string
	for i := range out.Items {
		got, err := one(i)
		if err != nil {
			return Outcome{}, fmt.Errorf("%s: %w", items[i].Object, err)
		}
		it := &out.Items[i]
		it.Outcome, it.Response, it.After = got.Result, got.Response, got.After
		switch got.Result {
		case Done:
			done++
		case Failed, Refused:
			not = append(not, got.Response)
		default:
			return Outcome{}, errors.Join(fmt.Errorf("%s: %s", items[i].Object, got.Response))
		}
	}
	return out.sum(done, strings.Join(not, " ")), nil
}

// sum makes one outcome of those of the items. Where nothing was done it is that of
// the item at which it stopped.
func (o Outcome) sum(done int, why string) Outcome {
	var left []string
	o.Result = Failed
	for _, it := range o.Items {
		if it.Outcome == Left {
			left = append(left, it.Object)
		}
		if it.Outcome == Refused && done == 0 {
			o.Result = Refused
		}
	}
	if done == len(o.Items) {
		o.Result = Done
	}
	o.Response = counted(done, len(o.Items)) + "."
	if why != "" {
		o.Response += " " + why
	}
	if len(left) > 0 {
		o.Response += fmt.Sprintf(" Not begun, and as they were: %s.", strings.Join(left, ", "))
	}
	return o
}

func counted(done, all int) string { return fmt.Sprintf("%d of %d are done", done, all) }
