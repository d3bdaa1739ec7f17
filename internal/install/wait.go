package install

import (
	"context"
	"fmt"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pollInterval is how often the Subscription is looked at while waiting.
const pollInterval = 200 * time.Millisecond

// Wait returns when the operator of the Subscription runs. Whenever the reason why it does not changes, tell is called with it.
// When the context ends first, the error says what the last reason was.
func Wait(ctx context.Context, reader client.Reader, key client.ObjectKey, tell func(reason, message string)) (csv string, err error) {
	last := v1alpha1.SubscriptionCondition{Message: "nobody has looked at the Subscription yet: is the manager running?"}
	for {
		var sub v1alpha1.Subscription
		if err := reader.Get(ctx, key, &sub); err != nil && ctx.Err() == nil {
			return "", fmt.Errorf("get Subscription %s: %w", key, err)
		}
		ready := sub.Status.GetCondition("Ready")
		if ready.Status == "True" {
			return sub.Status.InstalledCSV, nil
		}
		if ready.Message != "" && !ready.Equals(last) {
			last = ready
			tell(ready.Reason, ready.Message)
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("wait for Subscription %s: it is not ready: %s", key, last.Message)
		case <-time.After(pollInterval):
		}
	}
}
