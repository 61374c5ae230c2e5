import VestaCore

// Two apps in one process: with a thermometer, and without.
let warm = try VestaApp.configure(options: VestaOptions(), libraries: [ReportLibrary.self, ThermometerLibrary.self])
let blind = try VestaApp.configure(name: "blind", options: VestaOptions(), libraries: [ReportLibrary.self])

let texts = [warm, blind].map { $0.container.resolve(Report.self)?.text ?? "no report" }
for text in texts { print(text) }

guard texts == ["It is 21 degrees.", "Nobody measures the temperature."] else {
  throw VestaError(.notProvided, "The reports are not what they should be.")
}
guard await warm.delete(), await blind.delete(), VestaApp.allApps == nil else {
  throw VestaError(.duplicateApp, "The apps are still there.")
}
