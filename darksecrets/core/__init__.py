"""What every section uses: tables and records, statistics, data, models, attention, disabling."""
