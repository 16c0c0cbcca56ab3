package evidence

import (
	"errors"
	"fmt"
	"strings"

	"handrail/evidence/sig"
)

// timestamps says of each time stamp since when the seal that it is of exists.
func (v *verifier) timestamps() {
	newest := false
	for _, name := range v.files.timestamps {
		seal, t, err := v.timestamp(name)
		if err == nil && v.policy.Authorities != nil {
			err = v.policy.Authorities.Vouch(t, t.Time)
		}
		if err != nil {
			v.say(PropertyTimestamp, Failed, "%s: %v", name, err)
			continue
		}
		what := fmt.Sprintf("%s: entries 0 to %d existed before %s", name, seal.Entries-1, t.Latest())
		by := fmt.Sprintf("%q", t.Chain[0].Subject.String())
		if v.policy.Authorities == nil {
			v.say(PropertyTimestamp, Unproven, "%s, says %s; no authority known to you vouches for that", what, by)
			continue
		}
		newest = newest || seal.Entries == v.report.last.Entries
		v.say(PropertyTimestamp, Proven, "%s, says %s; an authority that you supplied vouches for that", what, by)
	}
	if v.policy.Authorities != nil && !newest {
		v.say(PropertyTimestamp, Failed, "no time stamp of the newest seal is by an authority that you brought along")
	}
}

// timestamp checks one file against the recomputed checkpoint of its seal.
func (v *verifier) timestamp(name string) (sealedAt, *sig.TimeStamp, error) {
	seal := v.sealOf(strings.TrimSuffix(name, ".tsr") + ".txt")
	if seal == nil {
		return sealedAt{}, nil, errors.New("the seal that it is of is not among the good entries")
	}
	raw, err := readSmall(v.root, "seals/"+name, sig.MaxTimeStamp)
	if err != nil {
		return sealedAt{}, nil, err
	}
	t, err := sig.ParseTimeStamp(raw)
	if err == nil && !t.Fits(seal.Text()) {
		err = errors.New("it is of another text than this checkpoint")
	}
	return *seal, t, err
}
