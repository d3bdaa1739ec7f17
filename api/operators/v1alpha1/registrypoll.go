package v1alpha1

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultRegistryPollDuration is used when the interval of a CatalogSource cannot be read.
const DefaultRegistryPollDuration = 15 * time.Minute

// UpdateStrategy says how a catalog is kept up to date.
type UpdateStrategy struct {
	// registryPoll looks for a new image from time to time.
	// +optional
	RegistryPoll *RegistryPoll `json:"registryPoll,omitempty"`
}

// RegistryPoll says how often a new image is looked for. An interval that cannot be read does not fail the whole
// object: the default is used, and the text and the error are kept so that the status can name them.
type RegistryPoll struct {
	// interval is a duration such as 10m or 1h.
	// +optional
	// +kubebuilder:validation:Type=string
	Interval *metav1.Duration `json:"interval,omitempty"`

	// RawInterval is the text that the object holds.
	RawInterval string `json:"-"`
	// ParsingError says why the text was not understood; it is empty when it was.
	ParsingError string `json:"-"`
}

// registryPollJSON is the wire form of RegistryPoll.
type registryPollJSON struct {
	Interval string `json:"interval,omitempty"`
}

// UnmarshalJSON reads the interval, or uses the default and keeps the error.
func (p *RegistryPoll) UnmarshalJSON(data []byte) error {
	var wire registryPollJSON
	if err := json.Unmarshal(data, &wire); err != nil {
		return fmt.Errorf("read registryPoll of an update strategy: %w", err)
	}
	*p = RegistryPoll{RawInterval: wire.Interval}
	if wire.Interval == "" {
		return nil
	}
	duration, err := time.ParseDuration(wire.Interval)
	if err != nil { // the words are published, and clients compare the whole text: what to write instead is reported elsewhere
		p.ParsingError = fmt.Sprintf("error parsing spec.updateStrategy.registryPoll.interval. Using the default value of %s instead. Error: %v",
			DefaultRegistryPollDuration, err)
		duration = DefaultRegistryPollDuration
	}
	p.Interval = &metav1.Duration{Duration: duration}
	return nil
}

// MarshalJSON writes the text that was read as long as it stands for the interval, so that nothing is lost.
func (p RegistryPoll) MarshalJSON() ([]byte, error) {
	wire := registryPollJSON{}
	if p.Interval != nil {
		wire.Interval = p.Interval.Duration.String()
	}
	if p.ParsingError != "" || p.rawIsInterval() {
		wire.Interval = p.RawInterval
	}
	return json.Marshal(wire)
}

// rawIsInterval says whether the kept text stands for the interval.
func (p RegistryPoll) rawIsInterval() bool {
	duration, err := time.ParseDuration(p.RawInterval)
	return err == nil && p.Interval != nil && p.Interval.Duration == duration
}
