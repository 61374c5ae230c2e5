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
  name: "Postgres",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaPostgres", targets: ["VestaPostgres"]),
    .library(name: "CVestaPostgres", targets: ["CVestaPostgres"]),
    .library(name: "VestaPostgresTesting", targets: ["VestaPostgresTesting"]),
  ],
  dependencies: [
    .package(path: "../Core"),
    .package(path: "../../Interop/StoreInterop"),
  ],
  targets: [
    .systemLibrary(name: "CVestaPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
      name: "VestaPostgres",
      dependencies: [
        "CVestaPostgres",
        .product(name: "VestaBytes", package: "Core"),
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaPostgresTesting",
      dependencies: ["VestaPostgres", .product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaPostgresTests",
      dependencies: [
        "VestaPostgres",
        "VestaPostgresTesting",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaCore", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
        .product(name: "VestaStoreInterop", package: "StoreInterop"),
        .product(name: "VestaStoreInteropContracts", package: "StoreInterop"),
        .product(name: "VestaStoreInteropFakes", package: "StoreInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
