// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Site",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Site", targets: ["Site"]),
    .executable(name: "vesta-site", targets: ["vesta-site"]),
  ],
  targets: [
    .target(name: "Site", swiftSettings: settings),
    .executableTarget(name: "vesta-site", dependencies: ["Site"], swiftSettings: settings),
    .testTarget(name: "SiteTests", dependencies: ["Site"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
