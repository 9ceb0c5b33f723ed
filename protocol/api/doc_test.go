package api_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"barnabas/protocol/api"
)

const docFile = "../../docs/protocol.md"

// page is docs/protocol.md.
func page() []byte {
	var b bytes.Buffer
	b.WriteString("# Protocol\n\nThe APIs that the broker answers, each complete at every version in its row. Generated from the version table\n" +
		"(`go test ./protocol/api -run Page -update`). Where answers differ from Kafka's: [divergences.md](divergences.md).\n\n" +
		"| key | API | versions | flexible from | largest request |\n|---|---|---|---|---|\n")
	for _, a := range api.Table() {
		limit := "socket.request.max.bytes"
		if a.MaxFrame > 0 {
			limit = fmt.Sprint(a.MaxFrame>>20, " MiB")
		}
		fmt.Fprintf(&b, "| %d | %s | %d–%d | %d | %s |\n", a.Key, a.Name, a.Min, a.Max, a.Flexible, limit)
	}
	return b.Bytes()
}

func TestThePageIsCurrent(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile(docFile, page(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docFile)
	if err != nil || !bytes.Equal(got, page()) {
		t.Errorf("%s is not what the table says (%v): run this test with -update", docFile, err)
	}
}
