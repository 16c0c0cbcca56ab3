package runlog

import "testing"

// TestThrottleIsAStatus tells the status from the number.
func TestThrottleIsAStatus(t *testing.T) {
	t.Parallel()
	for text, throttled := range map[string]bool{
		"creating thing: StatusCode: 429, RequestID: 1":                          true,
		"googleapi: Error 429: Quota exceeded for quota metric":                  true,
		"unexpected status 429 Too Many Requests":                                true,
		"the API answered HTTP 429":                                              true,
		"HTTP/1.1 429":                                                           true,
		"received 429":                                                           true,
		"request failed (429)":                                                   true,
		`status code: 429, request id: x`:                                        true,
		`{"code":"TooManyRequests"}`:                                             true,
		"ThrottlingException: Rate exceeded":                                     true,
		"API rate limit exceeded for 10.0.0.1":                                   true,
		"you have exceeded a secondary rate limit":                               true,
		"creating thing: boom on main.tf line 429, in resource \"t\" \"a\": 429": false,
		"dial tcp 10.0.0.1:429: connect: connection refused":                     false,
		"quota requests-429 is not enabled":                                      false,
		"creating rule rate limit of checkout: invalid":                          false,
		"error 429.txt: no such file":                                            false,
		"http 429-checkout is no name":                                           false,
		"object 429 does not exist":                                              false,
	} {
		if got := classOf(text) == classThrottle; got != throttled {
			t.Errorf("%q: throttled %v, class %s", text, got, classOf(text))
		}
	}
}
