package consent_test

import (
	"testing"

	"terminalproxy/cmd/internal/e2e/world"
)

func TestMain(m *testing.M) { world.Main(m) }
