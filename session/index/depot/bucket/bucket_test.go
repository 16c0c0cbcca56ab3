package bucket

import (
	"errors"
	"strings"
	"testing"

	"handrail/session/index/depot"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"s3://team/in/cidents/one.hrb.tar.gz": "s3://team/in/cidents one",
		"s3://team/one.hrb":                   "s3://team one",
		"s3://team/one":                       "s3://team one",
		"s3://team":                           "",
		"s3://team/":                          "",
		"s3://te/one":                         "",
		"s3://Team/one":                       "",
		"s3://team/../one":                    "",
		"s3://team//one":                      "",
		"s3://team/a\nb/one":                  "",
		"s3://team/a?versionId=1/one":         "",
		"s3://team/" + strings.Repeat("a", 600) + "/one": "",
		"s3://key:password@team/one":                     "",
		"oci://team/one":                                 "",
	} {
		where, id, err := Bundle(place)
		if got := where + " " + id; want != "" && (err != nil || got != want) || want == "" && !errors.Is(err, depot.ErrPlace) {
			t.Errorf("Bundle(%q) = %q, %v, want %q", place, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "password") {
			t.Errorf("Bundle(%q) repeats the password: %v", place, err)
		}
	}
}
