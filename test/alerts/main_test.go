package alerts

import (
	"testing"

	"fairlead.dev/fairlead/test/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }
