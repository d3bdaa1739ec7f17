package v1

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/fairlead/test/must"
)

func TestOLMConfigSettings(t *testing.T) {
	yes, no := true, false
	every := &metav1.Duration{Duration: time.Hour}
	for name, tc := range map[string]struct {
		config   *OLMConfig
		copies   bool
		interval *metav1.Duration
	}{
		"no object":   {nil, true, nil},
		"no features": {&OLMConfig{}, true, nil},
		"no settings": {&OLMConfig{Spec: OLMConfigSpec{Features: &Features{}}}, true, nil},
		"enabled":     {&OLMConfig{Spec: OLMConfigSpec{Features: &Features{DisableCopiedCSVs: &no}}}, true, nil},
		"disabled":    {&OLMConfig{Spec: OLMConfigSpec{Features: &Features{DisableCopiedCSVs: &yes, PackageServerSyncInterval: every}}}, false, every},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, "copies are enabled", tc.config.CopiedCSVsEnabled(), tc.copies)
			must.Equal(t, "the interval", tc.config.PackageServerSyncInterval(), tc.interval)
		})
	}
}
