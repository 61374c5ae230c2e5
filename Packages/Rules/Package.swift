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
  name: "Rules",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaRules", targets: ["VestaRules"]),
    .library(name: "VestaRulesTesting", targets: ["VestaRulesTesting"]),
  ],
  dependencies: [.package(path: "../Core")],
  targets: [
    .target(
      name: "VestaRules",
      dependencies: [
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaPatterns", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(name: "VestaRulesTesting", dependencies: ["VestaRules"], swiftSettings: settings),
    .testTarget(
      name: "VestaRulesTestingTests", dependencies: ["VestaRules", "VestaRulesTesting"], swiftSettings: settings),
    .testTarget(
      name: "VestaRulesTests",
      dependencies: [
        "VestaRules",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
