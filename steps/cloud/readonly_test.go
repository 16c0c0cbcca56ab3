package cloud

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudtrail"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/costexplorer"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"handrail/steps"
	"handrail/steps/transport"
)

// fill gives each field a value of its type, so that an input passes the checks of its client.
func fill(v reflect.Value, depth int) {
	if depth > 6 || !v.CanSet() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.String:
		v.SetString("xxxxxxxx")
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(began))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "ResultMetadata" {
				fill(v.Field(i), depth+1)
			}
		}
	}
}

// TestReadOnly calls every operation of each client that handrail asks AWS with, through the transport of that client. What
// may be asked arrives at the server, and nothing else does.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	cfg := aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", strings.Repeat("s", 40), ""), RetryMaxAttempts: 1}
	for name, tc := range map[string]struct {
		client func(at string, http *http.Client) any
		may    []string
		call   string // the one operation that it stands for
		most   int    // operations that its own checks may keep back
	}{
		"cloudtrail": {func(at string, h *http.Client) any {
			return cloudtrail.NewFromConfig(cfg, func(o *cloudtrail.Options) { o.BaseEndpoint, o.HTTPClient = &at, h })
		}, []string{lookup}, "LookupEvents", 0},
		"rds": {func(at string, h *http.Client) any {
			return rds.NewFromConfig(cfg, func(o *rds.Options) { o.BaseEndpoint, o.HTTPClient = &at, h })
		}, []string{describe}, "DescribeDBInstances", 0},
		"cloudwatch": {func(at string, h *http.Client) any {
			return cloudwatch.NewFromConfig(cfg, func(o *cloudwatch.Options) { o.BaseEndpoint, o.HTTPClient = &at, h })
		}, []string{metricData}, "GetMetricData", 3},
		"costexplorer": {func(at string, h *http.Client) any {
			return costexplorer.NewFromConfig(cfg, func(o *costexplorer.Options) { o.BaseEndpoint, o.HTTPClient = &at, h })
		}, []string{costAndUsage}, "GetCostAndUsage", 1},
		"sts": {func(at string, h *http.Client) any {
			return sts.NewFromConfig(cfg, func(o *sts.Options) { o.BaseEndpoint, o.HTTPClient = &at, h })
		}, []string{identity}, "GetCallerIdentity", 0},
		"dynamodb": {func(at string, h *http.Client) any {
			return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint, o.HTTPClient = &at, h })
		}, []string{"DynamoDB_20120810.GetItem"}, "GetItem", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			arrived := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				arrived++
				mu.Unlock()
				w.WriteHeader(http.StatusBadRequest)
			}))
			defer server.Close()
			client := reflect.ValueOf(tc.client(server.URL, reader(steps.Env{}, nil, tc.may...)))
			asked, kept := 0, []string{}
			for i := range client.NumMethod() {
				m := client.Type().Method(i)
				if m.Type.NumIn() != 4 || m.Type.NumOut() != 2 { // receiver, context, input, options
					continue
				}
				in := reflect.New(m.Type.In(2).Elem())
				fill(in.Elem(), 0)
				out := client.Method(i).Call([]reflect.Value{reflect.ValueOf(context.Background()), in})
				err, _ := out[1].Interface().(error)
				var refused *transport.RefusedError
				switch {
				case m.Name == tc.call:
					if errors.As(err, &refused) {
						t.Errorf("%s is refused: %v", m.Name, err)
					}
				case err == nil:
					t.Errorf("%s went through", m.Name)
				case !errors.As(err, &refused):
					kept = append(kept, m.Name)
				}
				asked++
			}
			if arrived != 1 {
				t.Errorf("%d requests arrived, want the one of %s", arrived, tc.call)
			}
			if len(kept) > tc.most {
				t.Errorf("%d operations did not get as far as the transport: %v", len(kept), kept)
			}
			t.Logf("%d operations, %d refused by the transport, %d kept back by the client", asked, asked-1-len(kept), len(kept))
		})
	}
}
