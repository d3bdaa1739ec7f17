package registryv1

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestConfigLimits(t *testing.T) {
	b := loadTest(t, nil)
	large := json.RawMessage(`{"deploymentConfig": {"annotations": {"a": "` + strings.Repeat("x", maxConfigBytes) + `"}}}`)
	if _, err := Render(b, Options{Namespace: "ns", Config: large}); err == nil || !strings.Contains(err.Error(), "make it smaller") {
		t.Errorf("error %v", err)
	}
	long := json.RawMessage(`{"` + strings.Repeat("é", 5000) + `": 1, "watchNamespace": "` + strings.Repeat("x", 5000) + `"}`)
	if _, err := Render(b, Options{Namespace: "ns", Config: long}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("the message has %d bytes", len(err.Error()))
	}
	many := json.RawMessage(`{"deploymentConfig": {"env": [` + strings.Repeat(`{"name": "A"},`, maxConfigValues/2) + `{"name": "A"}]}}`)
	if _, err := Render(b, Options{Namespace: "ns", Config: many}); err == nil || !strings.Contains(err.Error(), "more than 2000 values: make it smaller") {
		t.Errorf("error %v", err)
	}
	deep := json.RawMessage(`{"deploymentConfig": ` + strings.Repeat(`{"affinity":`, 5000) + `1` + strings.Repeat(`}`, 5001))
	if _, err := Render(b, Options{Namespace: "ns", Config: deep}); err == nil || len(err.Error()) > 1000 {
		t.Errorf("error %v", err)
	}
}

func TestRenderNeedsItsOptions(t *testing.T) {
	b := loadTest(t, nil)
	for _, o := range []Options{{}, {Namespace: "ns", Certificates: "Other"}} {
		_, err := Render(b, o)
		var bad *ConfigError
		var invalid *InvalidError
		if err == nil || errors.As(err, &bad) || errors.As(err, &invalid) {
			t.Errorf("%+v: error %v, want one of the caller", o, err)
		}
	}
}
