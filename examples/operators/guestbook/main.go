// The guestbook operator is a sample that builds on another one: for each Guestbook it creates a Greeting, which the
// greeter fills in, and shows its text. Start reading at reconcile.go.
package main

import (
	"os"

	"fairlead.dev/fairlead/examples/operators/api"
	"fairlead.dev/fairlead/examples/operators/startup"

	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	os.Exit(startup.Main("guestbook", func(m ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(m).
			For(&api.Guestbook{}).
			Owns(&api.Greeting{}).
			Complete(&guestbook{client: m.GetClient()})
	}))
}
