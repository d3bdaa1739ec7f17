package webhooks

import (
	"time"

	"fairlead.dev/fairlead/test/harness"
)

// behind is how late the manager's clock is in the beginning of TestRotation: two thirds of the life of a certificate, and a few days. What it makes then
// is valid now, and due for renewal as soon as the clock is right. The API server and the servers of the tests have the right time always.
const behind = 500 * 24 * time.Hour

// managers is the clock of the manager.
var managers = &harness.Clock{}
