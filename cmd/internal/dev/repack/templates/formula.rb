class {{.Class}} < Formula
  desc "{{.Summary}}"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "{{.License}}"
{{range $system, $archives := .BrewSystems}}
  on_{{$system}} do
{{- range $archives}}
    on_{{.CPU.Brew}} do
      url "{{.URL}}"
      sha256 "{{.SHA256}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install Dir["bin/*"]
    share.install Dir["share/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/proxy --version")
    assert_match version.to_s, shell_output("#{bin}/gateway version")
  end
end
