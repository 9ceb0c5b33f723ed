package config

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPropertiesSyntax(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		text string
		want []string // line key=value
	}{
		{"a=b", []string{"1 a=b"}},
		{"a=b\nc=d\n", []string{"1 a=b", "2 c=d"}},
		{"a=b\r\nc=d\re=f", []string{"1 a=b", "2 c=d", "3 e=f"}},
		{"# x\n\n  ! y\n a = b ", []string{"4 a=b "}},
		{"a:b\nc d\ne", []string{"1 a=b", "2 c=d", "3 e="}},
		{"a=b\\\n   c\nd=e", []string{"1 a=bc", "3 d=e"}},
		{"a=b\\\\\nd=e", []string{"1 a=b\\", "2 d=e"}},
		{"# x \\\na=b", []string{"2 a=b"}},
		{"a=b\\\r\n  c\r\nd=e", []string{"1 a=bc", "3 d=e"}},
		{"a\\=b\\:c=\\u0041\\t", []string{"1 a=b:c=A\t"}},
		{"a=1\na=2", []string{"1 a=1", "2 a=2"}},
		{"a=${b}\nb=${a}", []string{"1 a=${b}", "2 b=${a}"}},
		{"", nil},
		{"\n\\\n a=b", []string{"2 a=b"}},
	} {
		got, err := parseProperties("f", tc.text)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		var lines []string
		for _, a := range got {
			lines = append(lines, fmt.Sprintf("%d %s=%s", a.origin.Line, a.key, a.value))
		}
		if diff := cmp.Diff(tc.want, lines); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.text, diff)
		}
	}
}
